// Long documents through the real daemon: what the model gets at first, and how its agent reads the rest.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { aPdf, aRow, aWordDocument, aWorkbook, paragraph } from '../../support/files/documents.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

const LINES = Array.from({ length: 2_000 }, (_, index) => `Line ${index + 1} of the tides of March`);
const PAGES = Array.from({ length: 200 }, (_, page) => LINES.slice(page * 10, page * 10 + 10).join('\n'));

const DOCUMENTS = [
  ['tides.pdf', 'application/pdf', () => aPdf(PAGES)],
  ['tides.docx', 'application/octet-stream', () => aWordDocument(LINES.map(paragraph).join(''))],
  [
    'tides.xlsx',
    'application/octet-stream',
    () => aWorkbook(LINES.map((line, index) => aRow(index + 1, [line])).join('')),
  ],
] as const;

test.each(DOCUMENTS)(
  'the model learns how much of %s is missing, and read_file returns it',
  async (name, type, make) => {
    const before = model.requests.length;
    model.enqueue(
      (question) => {
        const offset = /with offset (\d+)/.exec(JSON.stringify(question.body.messages))?.[1];
        return {
          tools: [{ name: 'read_file', input: { path: `/uploads/${name}`, offset: Number(offset), limit: 50 } }],
        };
      },
      { text: 'Read.' },
    );
    const data = make().toString('base64');
    const answer = await takeTurn(
      { url: daemon.url, apiKey: daemon.apiKey },
      {
        content: [
          { type: 'text', text: 'What of the tides?' },
          { type: 'document', file_name: name, source: { type: 'base64', media_type: type, data } },
        ],
      },
    );
    expect(answer.text).toBe('Read.');
    const [first, second] = model.requests.slice(before).map(({ body }) => JSON.stringify(body.messages));
    const shown = LINES.filter((line) => first!.includes(`${line}\\n`) || first!.includes(`${line}[`));
    const left = Number(/(\d+) characters left out here/.exec(first!)?.[1]);
    expect(left).toBeGreaterThan(LINES.join('\n').length - 30_000 - 1_000);
    const next = LINES[shown.findIndex((line, index) => line !== LINES[index])]!;
    expect(first).not.toContain(`${next}\\n`);
    expect(second).toContain(`${next}\\n`);
    expect(second).toMatch(/This is the text of a .* continue with offset/);
  },
);
