"""Where live candles come from, behind one interface."""
