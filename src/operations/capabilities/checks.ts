// Lists models, and tests models and MCP servers for administrators.
import type { McpCheckReport, ModelCheckReport } from '../../agent/checks/check-task.ts';
import type { Catalog, CatalogModel } from '../../catalog/kinds/models.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { notFound } from '../../domain/errors.ts';
import type { Checks } from '../../execution/checks/checks.ts';
import { type ResolvedModel, resolveModel } from '../../execution/brief/resolve-model.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Listing } from '../../domain/listing.ts';
import type { Audit } from '../audit/audit.ts';
import type { makeDefinitionOperations } from './definitions.ts';

/** A model and its endpoint, as people know them. `model` is its name at the endpoint. */
interface ModelLocation {
  readonly name: string;
  readonly endpoint: string;
  readonly kind: string;
  readonly model: string;
}

/** A model of the catalog with the scenarios that select it. */
export interface ModelRecord extends ModelLocation, Pick<CatalogModel, 'contextWindow' | 'maxOutputTokens' | 'images'> {
  readonly scenarios: readonly string[];
  /** Whether accounts without a scenario use it. */
  readonly isDefault: boolean;
}

/** A check and how long it took. */
export interface ModelCheck extends ModelCheckReport, ModelLocation {
  readonly durationMs: number;
}

export interface McpServerCheck extends McpCheckReport {
  readonly id: number | null;
  readonly name: string;
  readonly durationMs: number;
}

export interface CheckOperationParts {
  readonly checks: Checks;
  readonly audit: Pick<Audit, 'act'>;
  readonly getDefinition: ReturnType<typeof makeDefinitionOperations>['getDefinition'];
  catalog(): Catalog;
  readonly lookUp: LookUp;
}

/** The verbs on checks. */
export function makeCheckOperations({ checks, audit, getDefinition, catalog, lookUp }: CheckOperationParts) {
  return {
    /** The models of the catalog, in the catalog's order. */
    listModels: (_caller: Administrator): Listing<ModelRecord> => {
      const { models, scenarios, defaultScenario } = catalog();
      const items = [...models.keys()].map((name): ModelRecord => {
        const named = [...scenarios.values()].filter(({ model }) => model === name);
        const resolved = resolveModel(catalog(), name)!;
        const { contextWindow, maxOutputTokens, images } = resolved.model;
        return {
          ...placeOf(resolved),
          contextWindow,
          maxOutputTokens,
          images,
          scenarios: named.map((scenario) => scenario.name),
          isDefault: scenarios.get(defaultScenario)?.model === name,
        };
      });
      return { items, total: items.length };
    },

    /** Tests a model by its name. Throws `not_found`, and as `Checks` does. */
    checkModel: async (
      caller: Administrator,
      name: string,
      options: { context: boolean },
      signal: AbortSignal,
    ): Promise<ModelCheck> => {
      const resolved = await lookUp(() => resolveModel(catalog(), name));
      if (resolved === undefined) throw notFound('Model');
      await audit.act(caller, 'model.check', name);
      const { result, durationMs } = await timed(() => checks.checkModel(resolved, options, signal));
      return { ...result, ...placeOf(resolved), durationMs };
    },

    /** Tests an MCP server by its name or id, regardless of who may use it. Throws `not_found`, and as `Checks` does. */
    checkMcpServer: async (caller: Administrator, reference: string, signal: AbortSignal): Promise<McpServerCheck> => {
      const { id, definition } = await getDefinition(caller, 'mcp-servers', reference);
      await audit.act(caller, 'mcp_server.check', definition.name);
      const { result, durationMs } = await timed(() => checks.checkMcpServer(definition, signal));
      return { ...result, id, name: definition.name, durationMs };
    },
  };
}

function placeOf({ model, endpoint }: ResolvedModel): ModelLocation {
  return { name: model.name, endpoint: endpoint.name, kind: endpoint.kind, model: model.model };
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly durationMs: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, durationMs: Math.round(performance.now() - startedAt) };
}
