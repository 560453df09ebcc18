// Texts that aren't UTF-8 in the real daemon: as an attachment that a model is shown, and as a file that its agent edits (M6).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
});

test.each([
  ['gb18030', '第三季度报告：销售额增长了百分之十二，费用有所下降。请检查表格。\n', '下降', '上升'],
  ['shift_jis', '第三四半期の報告：売上は十二パーセント増加し、費用は減少しました。\n', '減少', '増加'],
  ['windows-1252', 'Die Größe der Bestellung über 1.200 € wurde geprüft – „schön“.\n', '1.200 €', '1.300 €'],
])('%s: a model reads an attachment, and its agent edits it in its charset', async (charset, text, before, after) => {
  const bytes = iconv.encode(text, charset);
  const name = `report-${charset}.txt`;
  const path = `uploads/${name}`;
  model.script(({ step }) =>
    step === 0
      ? {
          tools: [
            { name: 'read_file', input: { path } },
            { name: 'edit_file', input: { path, old_text: before, new_text: after } },
          ],
        }
      : { text: 'done' },
  );
  const from = model.requests.length;
  const content = [
    { type: 'text', text: 'Change it.' },
    {
      type: 'document',
      file_name: name,
      source: { type: 'base64', media_type: 'text/plain', data: bytes.toString('base64') },
    },
  ];
  const turn = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content });
  const note = `The file is not UTF-8; it was read as ${charset}.`;
  const asked = JSON.stringify(model.requests[from]!.body.messages);
  expect(asked).toContain(text.trim());
  expect(asked).toContain(note);
  const answered = JSON.stringify(model.requests[from + 1]!.body.messages);
  expect(answered.split(note).length).toBeGreaterThan(2);
  expect(answered).toContain(`Replaced 1 occurrence in ${path}. It is written in ${charset}.`);
  const file = readFileSync(join(daemon.dataDir, 'workspaces', turn.sessionId!, path));
  expect(file).toEqual(iconv.encode(text.replace(before, after), charset));
});
