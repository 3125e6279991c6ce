"""Tests of candles, their store, the simulator, the sample and the migrations."""
