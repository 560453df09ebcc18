// The table of settings by section, for both outputs.
import { stringify } from 'yaml';
import type { Option, SectionName, SettingName } from '../../src/config/option.ts';
import { OPTIONS, SECTIONS } from '../../src/config/options.ts';

/** The settings of one section in the table's order, their names without the section's; '' is the top level. */
export interface Section {
  readonly name: SectionName | '';
  readonly about: string;
  readonly settings: readonly { readonly key: string; readonly option: Option }[];
}

/** Every section, the top level first. Throws when the settings of one are not adjacent. */
export function listSections(): readonly Section[] {
  const sections: (Section & { readonly settings: { key: string; option: Option }[] })[] = [];
  for (const [name, option] of Object.entries(OPTIONS) as [SettingName, Option][]) {
    const dot = name.lastIndexOf('.');
    const section = name.slice(0, Math.max(dot, 0)) as SectionName | '';
    if (sections.at(-1)?.name !== section) {
      if (sections.some((known) => known.name === section))
        throw new Error(`${name} is not next to the others of its section`);
      sections.push({ name: section, about: section === '' ? '' : SECTIONS[section], settings: [] });
    }
    sections.at(-1)!.settings.push({ key: name.slice(dot + 1), option });
  }
  return sections;
}

/** A setting's default as YAML, on one line. */
export function defaultOf({ fallback, example }: Option): string {
  const value = typeof fallback === 'function' ? example : fallback;
  if (value === undefined) throw new Error('a default that follows from something needs an example');
  return stringify(value).trim();
}
