// Configurations of the scripted model server that several tests share.

/** One model that is asked in OpenAI's protocol, and sees images. */
export const seeingModel = (url: string): string =>
  [
    `endpoints: { scripted: { kind: openai, base_url: "${url}/v1" } }`,
    'models: { scripted: { endpoint: scripted, model: scripted, context_window: 128000, images: true } }',
    'scenarios: { general: { model: scripted } }',
  ].join('\n');
