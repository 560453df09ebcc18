// Lays the settings out as the commented errand.yaml that a new config directory begins with.
import { defaultOf, listSections, type Section } from './tree.ts';

const WIDTH = 120;

const INTRODUCTION = `\
# Settings of the Errand daemon. Every key is optional; those below show their defaults.
# To set one, remove the \`#\` before it, and the one before its section.
#
# Changes apply as soon as you save this file, without a restart, except to \`listen\` and the database. A file with a
# mistake is reported and changes nothing. \`errand config check\` checks it; \`errand config show --origin\` shows every
# setting in effect, and where it comes from.
#
# Each key also has an environment variable, which overrides this file: ERRAND_ and the key in capitals, with \`_\` for
# \`.\`, such as ERRAND_MODEL_IDLE_TIMEOUT_SECONDS. The exceptions are MAX_UPLOAD_SIZE_MB and
# OPENAPI_LOGIN_TOKEN_TTL_SECONDS. A list in a variable is written as JSON.
`;

/** The file's text. Without its \`#\` before the keys, it sets every setting to its default. */
export function renderFile(): string {
  return [INTRODUCTION, ...listSections().map(renderSection)].join('');
}

function renderSection({ name, about, settings }: Section): string {
  if (name === '') return settings.map((setting) => `\n${renderSetting('', setting)}`).join('');
  const path = name.split('.');
  const outer = '  '.repeat(path.length - 1);
  // A section within a section follows its settings; a blank line precedes one at the top level.
  const gap = path.length === 1 ? '\n' : '';
  const head = `${gap}${comment(outer, about)}#${outer}${path.at(-1)}:\n`;
  return head + settings.map((setting) => renderSetting(`${outer}  `, setting)).join('');
}

function renderSetting(indent: string, { key, option }: Section['settings'][number]): string {
  return `${comment(indent, option.about)}#${indent}${key}: ${defaultOf(option)}\n`;
}

/** The text of a comment, wrapped. */
function comment(indent: string, text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`${indent}# ${word}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}
