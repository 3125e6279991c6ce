// A time zone as an offset from UTC at any moment, from the browser's own zone data.

const DAY_MS = 86_400_000;

/** One named zone. */
export class Zone {
  #format;
  #short;
  /** @type {Map<number, number>} offset at the start of a UTC day */
  #days = new Map();

  /** @param {string} name `UTC`, `browser` or an IANA name */
  constructor(name) {
    const timeZone = name === "browser" ? undefined : name;
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short",
    });
    this.#short = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "short" });
    /** IANA name that the setting stands for. */
    this.name = this.#format.resolvedOptions().timeZone;
    this.isUtc = this.name === "UTC";
  }

  /**
   * How far local clocks are ahead of UTC, ms.
   * @param {number} time ms UTC
   */
  offsetAt(time) {
    if (this.isUtc) return 0;
    const day = Math.floor(time / DAY_MS);
    const start = this.#dayOffset(day);
    return start === this.#dayOffset(day + 1) ? start : this.#measured(time);
  }

  /**
   * Local clock reading as if it were UTC ms, to be read with getUTC….
   * @param {number} time ms UTC
   */
  local(time) {
    return time + this.offsetAt(time);
  }

  /**
   * The moment at which local clocks show a reading; the earlier one where they show it twice.
   * @param {number} local reading, as if it were UTC ms
   */
  toUtc(local) {
    const before = local - this.offsetAt(local - DAY_MS);
    return before + this.offsetAt(before) === local ? before : local - this.offsetAt(local + DAY_MS);
  }

  /**
   * Short name in force at a moment, such as `UTC`, `EDT` or `GMT+9`.
   * @param {number} time ms UTC
   */
  shortName(time) {
    if (this.isUtc) return "UTC";
    return this.#short.formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? this.name;
  }

  /** @param {number} day days since 1970 */
  #dayOffset(day) {
    let offset = this.#days.get(day);
    if (offset === undefined) {
      offset = this.#measured(day * DAY_MS);
      this.#days.set(day, offset);
    }
    return offset;
  }

  /** @param {number} time */
  #measured(time) {
    /** @type {Record<string, string>} */
    const read = {};
    for (const part of this.#format.formatToParts(time)) read[part.type] = part.value;
    const year = read.era === "BC" ? 1 - Number(read.year) : Number(read.year);
    const shown = new Date(0);
    shown.setUTCFullYear(year, Number(read.month) - 1, Number(read.day));
    shown.setUTCHours(Number(read.hour), Number(read.minute), Number(read.second));
    return shown.getTime() - Math.floor(time / 1000) * 1000;
  }
}

/** Every zone the browser knows, UTC first. */
export function zoneNames() {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}

/**
 * Whether the browser knows a zone.
 * @param {string} name
 */
export function isZone(name) {
  if (name === "browser") return true;
  try {
    return Boolean(new Intl.DateTimeFormat("en-US", { timeZone: name }));
  } catch {
    return false;
  }
}
