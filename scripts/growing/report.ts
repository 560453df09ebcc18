// What was typed on which machine, and what came: the transcript, and a line for each promise.
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../systemd/container.ts';
import type { Machine } from './machines.ts';

export interface Report {
  say(words: string): void;
  /** Types commands, with `input` for what they ask. Throws when one fails. */
  console(machine: Machine, commands: string, input?: string): Promise<void>;
  /** Writes a file, or more lines to it, as an editor would. */
  file(machine: Machine, place: string, text: string, how: '>' | '>>'): Promise<void>;
  /** Whether all commands succeed: a promise. */
  holds(promise: string, machine: Machine, commands: readonly string[]): Promise<void>;
  /** Whether no turn is lost that `turns` takes meanwhile: a promise. */
  during(machine: Machine, turns: string, promise: string, work: () => Promise<void>): Promise<void>;
  readonly failures: readonly string[];
}

export function makeReport(transcript: string): Report {
  const failures: string[] = [];
  const note = (text: string): void => appendFileSync(transcript, `${text.trimEnd()}\n`);
  const shown = (machine: Machine, commands: string): string =>
    commands
      .trimEnd()
      .split('\n')
      .map((line) => `${machine.name}# ${line}`)
      .join('\n');
  const judge = (promise: string, isKept: boolean): void => {
    const line = `${isKept ? 'ok     ' : 'FAILED '} ${promise}`;
    if (!isKept) failures.push(promise);
    note(`\n${line}\n`);
    say(line);
  };
  const report: Report = {
    failures,
    say: note,
    console: async (machine, commands, input) => {
      note(shown(machine, commands));
      const { code, output } = await machine.run(commands, input);
      note(output);
      if (code !== 0) throw new Error(`${machine.name}: code ${code} of\n${commands}\n${output.slice(-4_000)}`);
    },
    file: async (machine, place, text, how) => {
      note(`${machine.name}: ${place}\n${text}`);
      await machine.run(`cat ${how}${place}`, text);
    },
    holds: async (promise, machine, commands) => {
      note(shown(machine, commands.join('\n')));
      const { code, output } = await machine.run(commands.join('\n'));
      note(output);
      judge(promise, code === 0);
    },
    during: async (machine, turns, promise, work) => {
      await machine.run('rm -f /srv/stop');
      const taken = machine.run(`${turns} 2>&1; cat /srv/turns`);
      try {
        await pause(2_000);
        await work();
        await pause(2_000);
      } finally {
        await machine.run('touch /srv/stop');
      }
      const { output } = await taken;
      note(output);
      judge(`${promise}: ${output.trimEnd().split('\n').at(-1)}`, /^lost 0 of [1-9]/m.test(output));
    },
  };
  return report;
}

export function step(report: Report, title: string): void {
  report.say(`\n== ${title}\n`);
  say(`${title} …`);
}
