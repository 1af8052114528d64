// A configuration of nats-server as an object, before it becomes text.
export interface ConfigObject {
  readonly [key: string]: ConfigValue;
}

export type ConfigValue = string | number | boolean | readonly ConfigValue[] | ConfigObject;
