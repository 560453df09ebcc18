// How far long work is, on stderr: a bar on a terminal, now and then a line elsewhere.
import type { Io } from '../frame/io.ts';

export interface ProgressBar {
  /** `detail` follows the label. */
  show(label: string, done: number, total: number, detail?: string): void;
  /** Removes the bar. */
  end(): void;
}

const CELLS = 24;
/** Of the bar, and of the lines. */
const [BAR_MS, LINE_MS] = [100, 10_000];

/** Makes a bar. A new label is shown at once. */
export function makeProgressBar({ stderr, terminal, now }: Pick<Io, 'now' | 'stderr' | 'terminal'>): ProgressBar {
  let [label, shownAt, isShown] = ['', 0, false];
  return {
    show: (next, done, total, detail = '') => {
      const isDue = now() - shownAt >= (terminal.stderr ? BAR_MS : LINE_MS);
      if (next === label && !isDue) return;
      [label, shownAt, isShown] = [next, now(), true];
      const part = total === 0 ? 0 : Math.min(done / total, 1);
      const percent = `${Math.floor(part * 100)}%`;
      const full = Math.round(part * CELLS);
      const bar = `\r\x1b[K${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${percent.padStart(4)}  ${label}`;
      const end = detail === '' ? '' : `, ${detail}`;
      stderr.write(terminal.stderr ? `${bar}${end}` : `${label} ${percent}${end}\n`);
    },
    end: () => {
      if (isShown && terminal.stderr) stderr.write('\r\x1b[K');
      isShown = false;
    },
  };
}
