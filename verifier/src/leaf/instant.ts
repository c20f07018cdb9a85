/** Times of the log's one form, `YYYY-MM-DDTHH:MM:SS.mmmZ`: days are taken from the runtime's calendar, and told once while entries are of one day. */

const DAY_LENGTH = "YYYY-MM-DD".length;
const FORM = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/;

let lastText = "";
let lastMs = Number.NaN;
let lastDay = "";
let lastDayMs = Number.NaN;

/** Milliseconds since the epoch; not a number for what is not in the calendar (30 February has the form of a time), or of another form. */
export function instantMs(text: string): number {
  if (text !== lastText) {
    lastText = text;
    lastMs = FORM.test(text) ? dayMs(text.slice(0, DAY_LENGTH)) + timeOfDayMs(text) : Number.NaN;
  }
  return lastMs;
}

function dayMs(day: string): number {
  if (day === lastDay) return lastDayMs;
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  lastDay = day;
  lastDayMs = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) ? ms : Number.NaN;
  return lastDayMs;
}

function timeOfDayMs(text: string): number {
  return (
    ((digits(text, 11, 2) * 60 + digits(text, 14, 2)) * 60 + digits(text, 17, 2)) * 1_000 +
    digits(text, 20, 3)
  );
}

function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) value = value * 10 + text.charCodeAt(at) - 0x30;
  return value;
}
