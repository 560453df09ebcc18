// The address of a page follows what is chosen, however much happens meanwhile.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeHistory, type PageHistory } from '../../../src/browser/app/history.ts';
import { desk } from '../../../src/tui/state/desk-state.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { initialState, type ScreenState } from '../../../src/tui/state/state.ts';

let history: PageHistory;
/** The addresses of the page, the newest last. */
let steps: string[];

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  steps = ['/office'];
  const page = Object.assign(new EventTarget(), {
    location: {
      get pathname() {
        return steps.at(-1)!.split('?')[0]!;
      },
      get search() {
        return /\?.*/.exec(steps.at(-1)!)?.[0] ?? '';
      },
    },
    history: {
      scrollRestoration: 'auto' as const,
      pushState: (_data: null, _unused: '', address: string) => void steps.push(address),
      replaceState: (_data: null, _unused: '', address: string) => void steps.splice(-1, 1, address),
    },
  });
  history = makeHistory(page, '/office', () => undefined);
});

/** Draws a screen once every 100 ms. */
function drawn(screen: ScreenState, times: number): void {
  for (let at = 0; at < times; at += 1) {
    history.follow(initialState({ tz: 'UTC', intervalMs: 5000 }, [screen], 0));
    vi.advanceTimersByTime(100);
  }
}

test('filters, order and tab are in the address although the page is drawn ten times a second', () => {
  drawn(floor(), 3);
  drawn(floor({ order: 'cost' }), 10);
  expect(steps).toEqual(['/office?order=cost']);
  drawn(desk('a'), 10);
  drawn({ ...desk('a'), tab: 'files' }, 10);
  expect(steps).toEqual(['/office?order=cost', '/office/sessions/a?tab=files']);
});

test('what is still changing is not in the address; what was chosen before a session is opened is on the way back', () => {
  drawn(floor(), 1);
  for (const find of ['s', 'sa', 'sal', 'sale', 'sales']) drawn(floor({ find }), 1);
  expect(steps).toEqual(['/office']);
  drawn(desk('a'), 10);
  expect(steps).toEqual(['/office?find=sales', '/office/sessions/a']);
});
