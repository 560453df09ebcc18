// A model of the catalog with its endpoint, and the worker's grant of it.
import { createHash } from 'node:crypto';
import type { ModelGrant } from '../../agent/port/grants.ts';
import type { Catalog, CatalogModel, Endpoint } from '../../catalog/kinds/models.ts';

export interface ResolvedModel {
  readonly model: CatalogModel;
  readonly endpoint: Endpoint;
}

/** The model of a name with its endpoint; undefined when the catalog no longer has it. */
export function resolveModel(catalog: Catalog, name: string | null): ResolvedModel | undefined {
  const model = name === null ? undefined : catalog.models.get(name);
  const endpoint = model === undefined ? undefined : catalog.endpoints.get(model.endpoint);
  return model === undefined || endpoint === undefined ? undefined : { model, endpoint };
}

const known = new WeakMap<Endpoint, string>();

/** Names how an endpoint is configured: another address, or another credential, gives another name, which doesn't tell either. */
function configuredAs(endpoint: Endpoint): string {
  const { kind, baseUrl, apiKey, caFile, extras } = endpoint;
  const named =
    known.get(endpoint) ??
    createHash('sha256')
      .update(JSON.stringify([kind, baseUrl, apiKey, caFile, extras.headers, extras.query]))
      .digest('base64url');
  known.set(endpoint, named);
  return named;
}

/** What a worker needs to call the model, with the key of its endpoint. */
export function grantModel({ model, endpoint }: ResolvedModel): ModelGrant {
  return {
    name: model.name,
    configured: configuredAs(endpoint),
    kind: endpoint.kind,
    baseUrl: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    caFile: endpoint.caFile,
    extras: endpoint.extras,
    model: model.model,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    images: model.images,
    documents: model.documents,
    structured: model.structured,
    thinkingTags: model.thinkingTags,
    metered: endpoint.maxInFlight !== null,
  };
}
