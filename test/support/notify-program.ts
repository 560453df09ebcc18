// A `systemd-notify` on a search path of its own, which keeps its arguments.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export interface NotifyProgram {
  readonly searchPath: string;
  /** One line a message, its assignments separated by `|`. */
  messages(): string[];
  /** Makes the next ones fail, or succeed again. */
  fail(fails: boolean): void;
}

export function notifyProgram(): NotifyProgram {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-notify-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [said, failing] = [path.join(directory, 'said'), path.join(directory, 'failing')];
  const script = `#!/bin/sh
[ -e '${failing}' ] && exit 1
IFS='|'
echo "$NOTIFY_SOCKET|$*" >> '${said}'
`;
  writeFileSync(path.join(directory, 'systemd-notify'), script, { mode: 0o755 });
  return {
    searchPath: `${directory}:${process.env['PATH'] ?? ''}`,
    messages: () => (existsSync(said) ? readFileSync(said, 'utf8').trimEnd().split('\n') : []),
    fail: (fails) => (fails ? writeFileSync(failing, '') : rmSync(failing, { force: true })),
  };
}
