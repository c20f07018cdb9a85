const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC)$/;
const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/;

/** A time as S3's conditions give it (RFC 1123 or RFC 3339), in Unix milliseconds at the second; null for what is none. */
export function dateOf(text: string): number | null {
  const http = HTTP_DATE.exec(text);
  if (http !== null) {
    const [, day, month = "", year, ...clock] = http;
    return at([Number(year), MONTHS.indexOf(month), Number(day)], clock.map(Number));
  }
  const iso = ISO_DATE.exec(text);
  if (iso === null) return null;
  const [, year, month, day, hour, minute, second, sign, hours = "0", minutes = "0"] = iso;
  const local = at(
    [Number(year), Number(month) - 1, Number(day)],
    [Number(hour), Number(minute), Number(second)],
  );
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return local === null ? null : local - (sign === "-" ? -offsetMs : offsetMs);
}

/** Answers an instant in Unix milliseconds; null for a day or an hour that there is not. @param day year, month from 0, day */
function at(day: number[], clock: number[]): number | null {
  const [year = 0, month = -1, date = 0] = day;
  const [hour = 0, minute = 0, second = 0] = clock;
  const made = new Date(Date.UTC(year, month, date, hour, minute, second));
  const isReal =
    month >= 0 &&
    made.getUTCMonth() === month &&
    made.getUTCDate() === date &&
    made.getUTCHours() === hour &&
    made.getUTCMinutes() === minute &&
    made.getUTCSeconds() === second;
  return isReal ? made.getTime() : null;
}
