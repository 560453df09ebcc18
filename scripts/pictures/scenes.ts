// The list of pictures. To add one, add a line.

/** A terminal, what runs in it, and what is pressed there before its picture is taken. */
export interface Scene {
  /** The file is `docs/pictures/<name>.svg`. */
  readonly name: string;
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  /** Arguments of `errand`. */
  readonly command: string;
  /** Names of tmux. */
  readonly keys?: readonly string[];
  /** What the screen shows when it is ready. */
  readonly until: string;
  /** More environment of the terminal. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Taken after the daemon was killed; the view has to come back once it is started again. */
  readonly isDaemonDown?: true;
}

const LIVE = 'office --tz UTC';

export const SCENES: readonly Scene[] = [
  { name: 'floor', title: 'The floor: teams, and their runs', columns: 120, rows: 24, command: LIVE, until: '● live' },
  {
    name: 'wide',
    title: 'The floor on a wide terminal, with the chosen run beside it',
    columns: 200,
    rows: 50,
    command: LIVE,
    keys: ['/', 'Letters from', 'Enter', 'j', 'Escape'],
    until: '│ ',
  },
  {
    name: 'teams',
    title: 'A team is chosen by a part of its name',
    columns: 100,
    rows: 16,
    command: LIVE,
    keys: ['t', 's'],
    until: 'Team: s',
  },
  { name: 'narrow', title: 'The floor in 60 columns', columns: 60, rows: 15, command: LIVE, until: '● live' },
  {
    name: 'today',
    title: "Today's runs of a team",
    columns: 110,
    rows: 16,
    command: LIVE,
    keys: ['t', 'Down', 'Enter', 'T'],
    until: 'with runs',
  },
  {
    name: 'desk',
    title: 'A session as it happens',
    columns: 110,
    rows: 22,
    command: LIVE,
    keys: ['/', 'Report on', 'Enter', 'Enter'],
    until: 'outline.md',
  },
  {
    name: 'desk-diff',
    title: 'What an edit changes',
    columns: 110,
    rows: 26,
    command: LIVE,
    keys: ['/', 'Letters from', 'Enter', 'Enter', 'N', 'Enter'],
    until: '+ ',
  },
  {
    name: 'desk-context',
    title: 'How full the window of the model is',
    columns: 110,
    rows: 16,
    command: LIVE,
    keys: ['/', 'Report on', 'Enter', 'Enter', '5'],
    until: 'History',
  },
  {
    name: 'no-color',
    title: 'The floor with NO_COLOR',
    columns: 100,
    rows: 18,
    command: LIVE,
    environment: { NO_COLOR: '1' },
    until: '● live',
  },
  {
    name: 'restart',
    title: 'A daemon that is restarted under the view',
    columns: 100,
    rows: 18,
    command: LIVE,
    isDaemonDown: true,
    until: 'not reachable, again in',
  },
];
