/** Rows of what people are to hear of jobs whose nodes are wanted for something else. */
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { CalendarMail } from "./decisions/calendar-mail.ts";

/** @property isNews it runs still, and nothing later was noted of it */
export type CalendarNewsRow = CalendarMail & { id: number; isNews: boolean };

/** In the order in which they were noted. */
export function calendarNewsRows(db: ReadHandle): CalendarNewsRow[] {
  return db
    .prepare<[], Omit<CalendarNewsRow, "isNews"> & { isNews: number }>(
      `SELECT news.id, news.job_id AS jobId, jobs.name, news.text,
         jobs.state IN ('RESERVED', 'PROVISIONING', 'STAGING', 'RUNNING')
           AND news.id = (SELECT max(id) FROM calendar_news AS later WHERE later.job_id = news.job_id) AS isNews
       FROM calendar_news AS news JOIN jobs ON jobs.id = news.job_id ORDER BY news.id LIMIT 100`,
    )
    .all()
    .map((row) => ({ ...row, isNews: row.isNews === 1 }));
}

export function forgetCalendarNews(db: WriteHandle, id: number): void {
  db.prepare("DELETE FROM calendar_news WHERE id = ?").run(id);
}
