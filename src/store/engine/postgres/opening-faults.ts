export const explainOpening = (error: unknown, _address: unknown): unknown => error;
