// The `shell` tool: a command in the sandbox, with the workspace as its only writable place.
import type { SpaceLimits } from '../../disk/disk-space.ts';
import type { ToolResult } from '../port/protocol.ts';
import { runInSandbox, type ShellResult } from '../sandbox/sandbox.ts';
import { diskIsFull, quotaIsTaken } from '../sandbox/workspace-room.ts';
import { skillMounts } from './skill-paths.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { defineTool, failed, inputOf, textOf } from './workspace-tool.ts';

const MAX_COMMAND_BYTES = 100_000;

export const shell: ExecutedTool = defineTool({
  name: 'shell',
  description:
    'Runs a command with bash (or sh) in a sandbox and returns its output and exit code. The current folder is /workspace, the workspace; only it and /tmp can be written, and /tmp is empty each time. No network, no input, and everything the command started ends with it.',
  inputSchema: inputOf(
    {
      command: { type: 'string', minLength: 1, description: 'The command line or script to run.' },
      timeout_seconds: {
        type: 'integer',
        minimum: 1,
        description: 'Stop the command after this time, if it is below the limit.',
      },
    },
    ['command'],
  ),
  writes: true,
  async execute(input, { workspace, sandbox, space, skills, signal }) {
    if (sandbox === null) return failed('No sandbox is available, so commands cannot be run.');
    const command = textOf(input, 'command');
    if (command.includes('\u0000')) return failed('`command` contains a NUL character.');
    if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
      return failed(
        `\`command\` is longer than ${MAX_COMMAND_BYTES} bytes. Write a script with write_file and run that.`,
      );
    }
    const asked = input['timeout_seconds'];
    const timeout = typeof asked === 'number' ? { timeoutMs: asked * 1000 } : {};
    const mounts = await skillMounts(skills);
    return describe(await runInSandbox(sandbox, { workspace, mounts, command, signal, ...timeout }), space);
  },
});

const STOPPED: Readonly<Record<NonNullable<ShellResult['stopped']>, (space: SpaceLimits) => string>> = {
  timeout: () => 'stopped: it ran out of time',
  output: () => 'stopped: it wrote too much output; redirect it to a file instead',
  memory: () => 'stopped: it used too much memory',
  quota: (space) => `stopped: ${quotaIsTaken(space)}`,
  disk: (space) => `stopped: ${diskIsFull(space)}`,
  canceled: () => 'stopped: the run was canceled',
};

/** Signals that need an explanation in addition to their name. */
const SIGNALS: Readonly<Record<string, string>> = {
  SIGXFSZ: ': a file would have exceeded the size limit, or nothing more may be written here',
};

function describe(result: ShellResult, space: SpaceLimits): ToolResult {
  const seconds = (result.durationMs / 1000).toFixed(1);
  const ending =
    result.stopped !== undefined
      ? STOPPED[result.stopped](space)
      : result.signal !== null
        ? `killed by ${result.signal}${SIGNALS[result.signal] ?? ''}`
        : `exit code ${result.exitCode}`;
  const ok = result.stopped === undefined && result.exitCode === 0;
  const separator = result.output === '' || result.output.endsWith('\n') ? '' : '\n';
  return { ok, output: `${result.output}${separator}[${ending}, after ${seconds} s]` };
}
