"""Read a candle file: sniff, map, parse, check, report. Pure; no database."""
