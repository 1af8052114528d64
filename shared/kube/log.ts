// The log that a client of the API server writes to; pino's loggers fit.

export interface KubeLog {
  warn(fields: object, message: string): void;
}
