// What Responses cost compared with Chat Completions, and what it costs to keep what clients will resend.
import { closedLoop, type Shot, type Target } from '../load.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import { median, ratioOf, type Side, sideBySide, WINDOW_MS } from '../side-by-side.ts';
import type { Figures, Scale } from './scale.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const STREAM: Shot = { text: 'Tell it. [[deltas=20]]', stream: true, expect: /word19 [^]*(?:\[DONE\]|completed)/ };
const CLIENTS = 16;
const SETTLE_MS = 500;

/** Measures all of them side by side, against one daemon. What seems to be the cost of `control` is noise. */
export async function measureProtocols(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch);
  const chat = errand.target;
  const responses: Target = {
    ...chat,
    url: chat.url.replace('chat/completions', 'responses'),
    inputOf: (input) => ({ input }),
  };
  const kept: Target = { ...chat, headers: { authorization: `Bearer ${await keyByHistory(errand)}` } };
  const open = async (target: Target, shot: Shot): Promise<Side> => {
    await closedLoop(target, shot, CLIENTS, { forMs: scale.warmMs, atMost: scale.warmRuns });
    const load = (runs: number) => closedLoop(target, shot, CLIENTS, { forMs: WINDOW_MS, atMost: runs });
    return { pid: errand.pid, load };
  };
  try {
    const sides = {
      chat: await open(chat, ANSWER),
      control: await open(chat, ANSWER),
      responses: await open(responses, ANSWER),
      kept: await open(kept, ANSWER),
      chatStream: await open(chat, STREAM),
      responsesStream: await open(responses, STREAM),
    };
    const cpuMs = await sideBySide(sides, { scale, settleMs: SETTLE_MS }, failures);
    return {
      protocolsChatCpuMs: median(cpuMs.chat),
      protocolsControlRatio: ratioOf(cpuMs.control, cpuMs.chat),
      protocolsResponsesRatio: ratioOf(cpuMs.responses, cpuMs.chat),
      protocolsKeptRatio: ratioOf(cpuMs.kept, cpuMs.chat),
      protocolsChatStreamCpuMs: median(cpuMs.chatStream),
      protocolsResponsesStreamRatio: ratioOf(cpuMs.responsesStream, cpuMs.chatStream),
    };
  } finally {
    await errand.close();
  }
}

async function keyByHistory({ daemon }: ErrandServer): Promise<string> {
  const wanted = { user: daemon.adminName, scope: 'global', name: 'resends', continue_by: 'history' };
  return ((await daemon.admin('POST', '/api/v1/keys', wanted)) as { key: string }).key;
}
