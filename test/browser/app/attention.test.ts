// When a page rests, and when it begins again.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { watchAttention } from '../../../src/browser/app/attention.ts';

let page: EventTarget & { hidden: boolean };
let done: string[];

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  page = Object.assign(new EventTarget(), { hidden: false });
  done = [];
});

const watch = () =>
  watchAttention(
    { document: page, window: new EventTarget() },
    () => void done.push('rests'),
    () => void done.push('wakes'),
  );

function hide(hidden: boolean): void {
  page.hidden = hidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

test('a page that is hidden for a moment goes on; one that stays hidden rests, and begins again when it is seen', () => {
  const end = watch();
  hide(true);
  vi.advanceTimersByTime(1_900);
  hide(false);
  expect(done).toEqual([]);
  hide(true);
  vi.advanceTimersByTime(2_000);
  expect(done).toEqual(['rests']);
  hide(false);
  hide(false);
  expect(done).toEqual(['rests', 'wakes']);
  end();
  hide(true);
  vi.advanceTimersByTime(60_000);
  expect(done).toEqual(['rests', 'wakes']);
});

test('a page that is opened behind others rests until it is seen', () => {
  page.hidden = true;
  watch();
  expect(done).toEqual(['rests']);
  hide(false);
  expect(done).toEqual(['rests', 'wakes']);
});

test('a device that slept while the page was hidden begins anew', () => {
  watch();
  hide(true);
  // No timer has run meanwhile.
  vi.setSystemTime(Date.now() + 3_600_000);
  hide(false);
  expect(done).toEqual(['rests', 'wakes']);
});
