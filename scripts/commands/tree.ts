// The command line as a tree of what its help says, read from the commands themselves.
import process from 'node:process';
import type { Command } from 'commander';
import { makeProgram } from '../../src/cli/program.ts';
import { addNouns } from '../../src/cli/all-nouns.ts';
import type { Io } from '../../src/cli/frame/io.ts';

/** A flag or an argument, as its help shows it, and what it means. */
export interface Entry {
  readonly term: string;
  readonly about: string;
}

/** A part of the text after the options: under a heading, or without one (''). */
export interface Section {
  readonly heading: string;
  readonly lines: readonly string[];
}

/** A command with its verbs. */
export interface CommandNode {
  /** From the noun on; empty for the program. */
  readonly path: readonly string[];
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly group: string;
  readonly arguments: readonly Entry[];
  readonly options: readonly Entry[];
  readonly sections: readonly Section[];
  readonly verbs: readonly CommandNode[];
}

/** Reads all commands. */
export async function readCommands(): Promise<CommandNode> {
  const program = makeProgram(SILENT);
  await addNouns(program, SILENT);
  return nodeOf(program, []);
}

/** Only the help is read: no command acts. */
const SILENT: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  terminal: { stdin: false, stdout: false, stderr: false },
  columns: 80,
  now: () => 0,
  environment: {},
  commandName: 'errand',
  executable: '/usr/bin/errand',
  onSignal: () => () => undefined,
  onHangup: () => () => undefined,
  loadDaemon: () => Promise.reject(new Error('No command acts here.')),
};

function nodeOf(command: Command, path: readonly string[]): CommandNode {
  const help = command.createHelp();
  const own = command.options.filter(({ hidden }) => !hidden);
  return {
    path,
    usage: help.commandUsage(command),
    summary: command.summary() || command.description(),
    description: command.description(),
    group: command.helpGroup() ?? '',
    arguments: help
      .visibleArguments(command)
      .map((argument) => ({ term: help.argumentTerm(argument), about: help.argumentDescription(argument) })),
    options: own.map((option) => ({ term: help.optionTerm(option), about: help.optionDescription(option) })),
    sections: sectionsOf(textAfter(command)),
    verbs: command.commands.map((verb) => nodeOf(verb, [...path, verb.name()])),
  };
}

/** The text that `addHelpText('after', …)` adds. */
function textAfter(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
  return text.slice(command.helpInformation().length);
}

/** A line that ends with a colon and isn't indented is the heading of what follows. */
function sectionsOf(text: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }];
  for (const line of text.trim().split('\n')) {
    const heading = /^(\S.*):$/.exec(line)?.[1];
    if (heading === undefined) sections.at(-1)!.lines.push(line);
    else sections.push({ heading, lines: [] });
  }
  return sections
    .map(({ heading, lines }) => ({ heading, lines: withoutMargins(lines) }))
    .filter(({ heading, lines }) => heading !== '' || lines.length > 0);
}

function withoutMargins(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}
