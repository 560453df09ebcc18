// Models and the results of checks as administrators read them.
import type { Finding } from '../../agent/checks/check-task.ts';
import type { McpServerCheck, ModelCheck, ModelRecord } from '../../operations/capabilities/checks.ts';
import type { McpServerCheckWire, ModelCheckWire, ModelWire } from '../../wire/capabilities/model.ts';

export function renderModel({ model, endpoint, scenarios, isDefault }: ModelRecord): ModelWire {
  return {
    name: model.name,
    endpoint: endpoint.name,
    kind: endpoint.kind,
    model: model.model,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    images: model.images,
    scenarios,
    default: isDefault,
  };
}

export function renderModelCheck(check: ModelCheck): ModelCheckWire {
  const { model, endpoint } = check.resolved;
  return {
    name: model.name,
    endpoint: endpoint.name,
    kind: endpoint.kind,
    model: model.model,
    ok: isOk(check.findings),
    findings: check.findings,
    first_token_ms: check.firstTokenMs,
    tokens_per_second: check.tokensPerSecond,
    duration_ms: check.durationMs,
  };
}

export function renderMcpServerCheck(check: McpServerCheck): McpServerCheckWire {
  return {
    id: check.id,
    name: check.name,
    server_name: check.serverName,
    ok: isOk(check.findings),
    findings: check.findings,
    tools: check.tools,
    start_ms: check.startMs,
    list_ms: check.listMs,
    stderr: check.stderr,
    duration_ms: check.durationMs,
  };
}

const isOk = (findings: readonly Finding[]) => findings.every(({ state }) => state !== 'failed');
