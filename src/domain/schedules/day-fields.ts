// The two fields of a cron expression that say on which days it fires.

/** Whether a day has to fit both: one that begins with a wildcard restricts the other, as with Debian's cron. Else it fits either. */
export function needsBothDays(cron: string): boolean {
  const [, , dayOfMonth, , dayOfWeek] = cron.trim().split(/\s+/);
  return [dayOfMonth, dayOfWeek].some((field) => field?.startsWith('*'));
}
