// Broken things that others have made: such skills and plugins are left out, and everything else is applied.
import type { Definitions, PluginDefinition, SkillDefinition } from '../definitions.ts';
import type { Problem } from './problem.ts';
import type { Located } from './reader.ts';

/** Full names of what is left out, and every problem with it. */
interface Broken {
  readonly skills: ReadonlySet<string>;
  readonly plugins: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

interface Made {
  readonly skills: ReadonlyMap<string, Located<SkillDefinition>>;
  readonly plugins: ReadonlyMap<string, Located<PluginDefinition>>;
}

/** Every skill and plugin with a fault. `references` are unresolved names in plugins. */
export function brokenOf(
  { skills, plugins }: Made,
  references: readonly { readonly plugin: string | null; readonly problem: Problem }[],
): Broken {
  const problems: Problem[] = [];
  const take = (what: 'skill' | 'plugin', name: string, faults: readonly Problem[]) => {
    for (const fault of faults)
      problems.push({ ...fault, message: `${fault.message} (the ${what} ${name} is left out)` });
    return faults.length > 0 ? [name] : [];
  };
  return {
    skills: new Set([...skills].flatMap(([name, { faults = [] }]) => take('skill', name, faults))),
    plugins: new Set(
      [...plugins].flatMap(([name, { faults = [] }]) => {
        const own = references.filter(({ plugin }) => plugin === name).map(({ problem }) => problem);
        return take('plugin', name, [...faults, ...own]);
      }),
    ),
    problems,
  };
}

/** The definitions without what is broken. What was valid before stays as it was. */
export function leaveOut(now: Definitions, { skills, plugins }: Broken, before: Definitions): Definitions {
  const kept = <T>(from: ReadonlyMap<string, T>, old: ReadonlyMap<string, T>, isBroken: (thing: T) => boolean) =>
    new Map([...[...from].filter(([, thing]) => !isBroken(thing)), ...[...old].filter(([, thing]) => isBroken(thing))]);
  const isOfBroken = ({ plugin }: { readonly plugin: string | null }) => plugin !== null && plugins.has(plugin);
  return {
    ...now,
    experts: kept(now.experts, before.experts, isOfBroken),
    skills: kept(now.skills, before.skills, (one) => skills.has(one.name) || isOfBroken(one)),
    plugins: kept(now.plugins, before.plugins, ({ name }) => plugins.has(name)),
    mcpServers: kept(now.mcpServers, before.mcpServers, isOfBroken),
  };
}
