// A model of the catalog with its endpoint, and the worker's grant of it.
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

/** What a worker needs to call the model, with the key of its endpoint. */
export function grantModel({ model, endpoint }: ResolvedModel): ModelGrant {
  return {
    name: model.name,
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
