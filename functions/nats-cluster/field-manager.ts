// Who owns what this function writes to the API server.

export const FIELD_MANAGER = 'ballast-nats-cluster';
