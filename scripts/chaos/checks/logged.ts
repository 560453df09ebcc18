// Errors in a daemon's log: none is to be there, unless something that it can't help is the reason.

/** Each of them in words; `isExcused`: whether there was a reason at that time, in epoch ms. */
export function errorsIn(log: string, isExcused: (at: number) => boolean): string[] {
  const lines = log.split('\n').filter((line) => /"level":("error"|"fatal"|50|60)/.test(line));
  const timeOf = (line: string) => new Date((JSON.parse(line) as { time: string | number }).time).getTime();
  return lines.flatMap((line) => (isExcused(timeOf(line)) ? [] : [`logged: ${line.slice(0, 600)}`]));
}
