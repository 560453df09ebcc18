import { streamText, jsonSchema } from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { fetch as uf, Agent } from 'undici';
import { GRANT, makeBrief, makeTools, startRun, LIMITS } from './play-main.ts';
const url = process.argv[2]!;
const agent = new Agent({headersTimeout:0,bodyTimeout:0});
const model = createOpenAICompatible({ name:'x', baseURL: url+'/v1', includeUsage:true, fetch: ((i: any, o: any) => uf(i, {...o, dispatcher: agent})) as any }).chatModel('m');
const { tools } = makeTools();
const set = Object.fromEntries(tools.map(t=>[t.name,{description:t.description,inputSchema:jsonSchema(t.inputSchema)}]));
async function bare(text: string) { const r = streamText({ model, messages:[{role:'user',content:text}], tools:set, maxRetries:0, instructions:'Be brief.' }); let s=''; for await (const p of r.stream) if (p.type==='text-delta') s+=p.text; return s; }
const b = await makeBrief({ model: { ...GRANT, baseUrl: url, apiKey: null }, limits: {...LIMITS, runTimeoutMs: 60000, maxSteps: 100} });
async function ours(text: string) { const m = startRun({ ...b, turn: { user:[{type:'text',text}], attachments:[], steps:[] } }, tools); const o = await m.done; if (o.status!=='completed') throw new Error(JSON.stringify(o)); return o.text; }
for (const [name, text, n, par] of [['200 deltas paced 10ms','[[deltas=200 every=10]]',40,20],['200 deltas burst','[[deltas=200]]',100,4],['1 delta','[[deltas=1]]',600,4]] as const) {
  for (const [k, f] of [['bare',bare],['ours',ours]] as const) {
    for (let r=0;r<2;r++) { const c0=process.cpuUsage(); const t0=performance.now(); let left=n; await Promise.all(Array.from({length:par},async()=>{ while(left-->0) await f(text); })); const c=process.cpuUsage(c0); if(r===1) console.log(name,k,'cpu us/run',((c.user+c.system)/n).toFixed(0),'wall ms/run',((performance.now()-t0)/n).toFixed(2)); }
  }
}
process.exit(0);
