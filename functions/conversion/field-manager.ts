// The field manager of everything that this function writes to the API server.

export const FIELD_MANAGER = 'ballast-conversion';
