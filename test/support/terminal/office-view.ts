// The whole view on a terminal of the test's own: what it shows, and keys as a terminal sends them.
import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import { makeClient } from '../../../src/client/client.ts';
import { App } from '../../../src/tui/app/app.ts';
import { startFeed } from '../../../src/tui/feed/feed.ts';
import { makeStore } from '../../../src/tui/app/store.ts';
import { h } from '../../../src/tui/screen/element.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type AppState, initialState, type ScreenState } from '../../../src/tui/state/state.ts';
import { themeFor } from '../../../src/tui/theme/theme.ts';
import { waitFor } from '../time/wait-for.ts';

export interface OfficeViewOptions {
  readonly url: string;
  readonly token?: string;
  readonly screens?: readonly ScreenState[];
  readonly columns?: number;
  readonly rows?: number;
  /** The shortest time between two frames. */
  readonly frameMs?: number;
  readonly tz?: string;
}

export interface OfficeView {
  /** The last frame, without colours and blanks at its ends. */
  readonly screen: () => string;
  readonly state: () => AppState;
  readonly until: (text: string | RegExp) => Promise<unknown>;
  /** Sends each of them as one piece of input. */
  readonly press: (...inputs: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

export const ENTER = '\r';

/** Opens it. Whoever opens it closes it. */
export function openOfficeView({
  url,
  token = 'k',
  screens = [floor()],
  columns = 100,
  rows = 30,
  frameMs = 1,
  tz = 'UTC',
}: OfficeViewOptions): OfficeView {
  // Its clock stands still: what is shown for a few seconds stays until something else is.
  const at = Date.now();
  const now = () => at;
  const controller = new AbortController();
  const client = makeClient({ url, token }, controller.signal);
  const store = makeStore(initialState({ tz, intervalMs: 60_000 }, screens, at), {
    frameMs,
    now,
    isBusy: () => false,
  });
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  }) as unknown as ReadStream;
  let shown = '';
  const stdout = Object.assign(new PassThrough(), {
    isTTY: true,
    columns,
    rows,
    write: (text: string) => {
      // oxlint-disable-next-line no-control-regex
      const plain = text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
      if (plain.trim() !== '') shown = plain;
      return true;
    },
  }) as unknown as WriteStream;
  const ink = render(
    h(App, {
      client,
      store,
      theme: themeFor('none', 'dark'),
      wheel: { listen: () => () => undefined },
      now,
      quit: () => undefined,
      copy: () => undefined,
      page: () => undefined,
    }),
    { stdin, stdout, debug: true, interactive: true, exitOnCtrlC: false, patchConsole: false },
  );
  const feed = startFeed({ client, get: store.get, dispatch: store.dispatch, take: store.take, now });
  const screen = () => shown.replace(/ +$/gm, '');
  return {
    screen,
    state: store.latest,
    until: (text) =>
      waitFor(() => (typeof text === 'string' ? screen().includes(text) : text.test(screen()))).catch(
        (cause: unknown) => {
          throw new Error(`Never showed ${String(text)}:\n${screen()}`, { cause });
        },
      ),
    press: (...inputs) => inputs.forEach((input) => stdin.push(input)),
    close: async () => {
      feed.stop();
      controller.abort();
      store.close();
      ink.unmount();
    },
  };
}
