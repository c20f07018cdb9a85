/** When a job that repeats is due: five fields as in crontab(5), read on the clocks of one time zone. Pure. */
import { validateDetailed } from "node-cron";

/** @property days of the month and of the week, each null where the field leaves all of them */
type Calendar = {
  minutes: readonly number[];
  hours: readonly number[];
  months: ReadonlySet<number>;
  days: ReadonlySet<number> | null;
  weekdays: ReadonlySet<number> | null;
  timeZone: string;
};

/** Says which field can't be meant. */
export class CalendarInvalid extends Error {
  override readonly name = "CalendarInvalid";
}

/** A day that comes comes within so many years: 29 February of a weekday, over a century without a leap day. */
const YEARS = 41;
const FIELDS = 5;

/** @throws CalendarInvalid */
export function readCalendar(cron: string, timeZone: string): Calendar {
  if (!isTimeZone(timeZone)) throw new CalendarInvalid(`there is no time zone ${timeZone}`);
  const given = cron.trim().split(/\s+/);
  if (given.length !== FIELDS)
    throw new CalendarInvalid(`a calendar has ${FIELDS} fields, and not ${given.length}`);
  // node-cron counts a range out before it judges its ends: a long one takes seconds, and all memory.
  if (/\d{3}/.test(cron)) throw new CalendarInvalid("no number of a calendar has three digits");
  const { fields, errors } = validateDetailed(given.join(" "));
  if (fields === undefined || errors.length > 0)
    throw new CalendarInvalid(errors[0]?.message ?? "the calendar can't be read");
  const days = numbersOf(fields.dayOfMonth, "the day of the month");
  const weekdays = numbersOf(fields.dayOfWeek, "the day of the week");
  return {
    minutes: sorted(fields.minute),
    hours: sorted(fields.hour),
    months: new Set(fields.month),
    days: days.length === 31 ? null : new Set(days),
    weekdays: weekdays.length === 7 ? null : new Set(weekdays),
    timeZone,
  };
}

/**
 * The first time after an instant. A time that a clock change leaves out comes as much later as
 * the clock is set; one that comes twice counts once.
 * @throws CalendarInvalid for days that never come
 */
export function nextInstant(calendar: Calendar, afterMs: number): number {
  const after = Temporal.Instant.fromEpochMilliseconds(afterMs);
  const first = after.toZonedDateTimeISO(calendar.timeZone).toPlainDate();
  const last = first.add({ years: YEARS });
  for (let day = first; Temporal.PlainDate.compare(day, last) < 0; ) {
    if (!calendar.months.has(day.month)) {
      day = day.with({ day: 1 }).add({ months: 1 });
      continue;
    }
    const found = isDay(calendar, day) ? firstOf(calendar, day, afterMs) : null;
    if (found !== null) return found;
    day = day.add({ days: 1 });
  }
  throw new CalendarInvalid("such a day never comes");
}

/** Where both fields name days, either will do. */
function isDay({ days, weekdays }: Calendar, { day, dayOfWeek }: Temporal.PlainDate): boolean {
  const isOfMonth = days?.has(day) ?? false;
  const isOfWeek = weekdays?.has(dayOfWeek % 7) ?? false;
  return days === null && weekdays === null ? true : isOfMonth || isOfWeek;
}

function firstOf(
  { hours, minutes, timeZone }: Calendar,
  day: Temporal.PlainDate,
  afterMs: number,
): number | null {
  for (const hour of hours)
    for (const minute of minutes) {
      const plainTime = new Temporal.PlainTime(hour, minute);
      const at = day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;
      if (at > afterMs) return at;
    }
  return null;
}

function numbersOf(values: readonly (number | string)[], field: string): number[] {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length < values.length) throw new CalendarInvalid(`${field} takes numbers and names`);
  return numbers;
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
