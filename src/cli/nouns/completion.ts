// `errand completion`: scripts that complete nouns, verbs and flags, generated from the commands.
import { Argument, type Command } from 'commander';
import {
  bashScript,
  type CompletionNode,
  fishScript,
  type Flag,
  type Word,
  zshScript,
} from '../terminal/completion-scripts.ts';
import { act } from '../frame/context.ts';
import type { Io } from '../frame/io.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly CompletionNode[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Adds the command. */
export function addCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .summary('shell completion')
    .description('Print a script that makes a shell complete the commands of errand.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action(act(io, async ({ out }, shell: Shell) => out.text(SCRIPTS[shell](completionNodes(program)))));
}

const EXAMPLES = `
Examples:
  errand completion bash > /etc/bash_completion.d/errand
  errand completion zsh > "\${fpath[1]}/_errand"
  errand completion fish > ~/.config/fish/completions/errand.fish`;

/** The tree of commands as a list of paths. Each path includes the global flags, which work everywhere. */
function completionNodes(program: Command): readonly CompletionNode[] {
  const everywhere = flagsOf(program).filter(({ spellings }) => !spellings.includes('--version'));
  const visit = (command: Command, path: readonly string[]): CompletionNode[] => {
    const own = path.length === 0 ? flagsOf(program) : [...flagsOf(command), ...everywhere];
    return [
      { path, words: wordsOf(command), flags: withoutDoubles(own) },
      ...command.commands.flatMap((child) => visit(child, [...path, child.name()])),
    ];
  };
  return visit(program, []);
}

function wordsOf(command: Command): Word[] {
  const verbs = command.commands.map((child) => ({
    word: child.name(),
    about: child.summary() || child.description(),
  }));
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);
  return [...verbs, ...choices.map((word) => ({ word, about: '' }))];
}

function flagsOf(command: Command): Flag[] {
  const options = command.createHelp().visibleOptions(command);
  return options.map(({ short, long, description, required, argChoices }) => ({
    spellings: [short, long].filter((spelling) => spelling !== undefined),
    about: description,
    takesValue: required,
    values: argChoices ?? [],
  }));
}

function withoutDoubles(flags: readonly Flag[]): Flag[] {
  return [...new Map(flags.map((flag) => [flag.spellings.join(), flag])).values()];
}
