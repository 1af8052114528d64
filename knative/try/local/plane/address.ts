// Where a plane is and how to log in there: all that its users need. Only who started it gets a
// `Plane`, which can also end and cut off parts.
export interface PlaneAddress {
  readonly dir: string;
  /** Cluster admin: CA file and token. */
  readonly kubeconfigPath: string;
  readonly caPath: string;
  part(name: string): PartAddress;
}

export interface PartAddress {
  readonly name: string;
  readonly url: string;
  /** The same for each who has a login of his own, by name. */
  readonly urls?: Readonly<Record<string, string>> | undefined;
}

export function findPart<P extends PartAddress>(parts: readonly P[], name: string): P {
  const part = parts.find((one) => one.name === name);
  if (part !== undefined) return part;
  const names = parts.map((one) => one.name).join(', ');
  throw new Error(`no part is named ${name}; there are: ${names}`);
}
