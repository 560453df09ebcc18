// When a task fires, in words and in times that people read.
import { needsBothDays } from '../../../domain/schedules/day-fields.ts';

/** The time zone of this terminal, by its IANA name. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Says in words when a cron expression fires, such as `at 07:00, Monday through Friday`. */
export type SayCron = (cron: string) => string;

/** Loads the library that finds the words; most commands need none. An expression that it doesn't know stays as it is. */
export async function loadWords(): Promise<SayCron> {
  const { default: cronstrue } = await import('cronstrue');
  return (cron) => {
    try {
      const options = { use24HourTimeFormat: true, logicalAndDayFields: needsBothDays(cron) };
      const words = cronstrue.toString(cron, options);
      const whole = /^At \d\d:\d\d$/.test(words) ? `${words} every day` : words;
      return `${whole[0]?.toLowerCase()}${whole.slice(1)}`;
    } catch {
      return cron;
    }
  };
}

/** A moment in a time zone: `Mon 2026-11-23 08:30 GMT+1`. `at` is epoch ms. */
export function wallTime(at: number, timeZone: string): string {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const names = { weekday: 'short', timeZoneName: 'short' } as const;
  const parts = new Intl.DateTimeFormat('en-US', { ...digits, ...names, hourCycle: 'h23', timeZone }).formatToParts(at);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('weekday')} ${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')} ${of('timeZoneName')}`;
}
