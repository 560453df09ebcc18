// Lays the settings out as a page of tables.
import { defaultOf, listSections, type Section } from './tree.ts';

const INTRODUCTION = `# Settings

Every setting of \`errand.yaml\` in the config directory. \`npm run settings\` writes this page and \`config/errand.yaml\` from
\`src/config/options/\`; \`npm run check\` fails when they are out of date.

Flags override environment variables, variables override the file, and the file overrides the defaults. A setting's variable
is \`ERRAND_\` and its name in capitals with \`_\` for \`.\`: \`model.max_steps\` is \`ERRAND_MODEL_MAX_STEPS\`. The exceptions are
\`MAX_UPLOAD_SIZE_MB\` and \`OPENAPI_LOGIN_TOKEN_TTL_SECONDS\`. A list in a variable is written as JSON. Changes to the file
apply as soon as you save it, except to \`listen\` and the database. \`errand config show --origin\` shows every setting in
effect, and where it comes from.

Settings with † depend on the machine. Where several daemons are one installation, all others should be the same at every
node: \`errand doctor\` names the node where they aren't.
`;

/** The page's text. */
export function renderPage(): string {
  return [INTRODUCTION, ...listSections().map(renderSection)].join('\n');
}

function renderSection({ name, about, settings }: Section): string {
  const head = name === '' ? ['## Top level'] : [`## \`${name}\``, '', about];
  const rows = settings.map(
    ({ key, option }) =>
      `| \`${key}\`${option.isOfNode === true ? ' †' : ''} | \`${defaultOf(option)}\` | ${valuesOf(option.schema.mustBe)} | ${option.about} |`,
  );
  return [...head, '', '| Setting | Default | Values | What it does |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** What a value must be, in the words of the error for any other value. */
function valuesOf(mustBe: string): string {
  return mustBe.replace(/^must be /, '');
}
