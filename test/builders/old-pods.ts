// Pods of servers that an operator or a chart left, on this machine: a network of their own has an
// address for each.
import { randomInt } from 'node:crypto';

export interface OldPod {
  readonly name: string;
  readonly ip: string;
  /** Its name in DNS. */
  readonly host: string;
}

/** `domain`: that of the Service which tells their names, as `old.shop.svc`. */
export function oldPods(names: readonly string[], domain: string): readonly OldPod[] {
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  return names.map((name, at) => ({ name, ip: `${network}.${at + 1}`, host: `${name}.${domain}` }));
}
