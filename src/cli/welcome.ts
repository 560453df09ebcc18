// The first words of a new daemon: who its administrator is, and two ways to try it at once.
import type { Created } from './io.ts';

/** The credentials, shown this once. */
export function credentialsText({ dataDir, configDir, admin, apiKey }: Created): string {
  return `Errand has a new home in ${dataDir}
Its configuration is in ${configDir}

  Administrator  ${admin.username}
  Password       ${admin.password}
  API key        ${apiKey.key}

Keep them: they are shown this once.
`;
}

/** How to try it: a curl line and a chat line, whole, to be pasted. `command` is how the program is called here. */
export function firstStepsText(url: string, key: string, command: string): string {
  const body = JSON.stringify({ model: 'errand', messages: [{ role: 'user', content: 'write notes.md: Hello!' }] });
  return `Try it:

  curl ${url}/openapi/v1/messages \\
    -H 'x-api-key: ${key}' -H 'content-type: application/json' \\
    -d '${body}'

  ERRAND_API_KEY=${key} ${command} chat --stream 'write notes.md: Hello!'
`;
}
