// Every address of a cluster, cut from the one /16 that the rest of the machine sees of it.

export interface Addresses {
  /** `A.B.0.0/16`. */
  readonly subnet: string;
  /** Joins the machine to the cluster's network namespace. */
  readonly interfaceName: string;
  /** This machine's own end. */
  readonly host: string;
  /** Where the API server, the scheduler and the rest of the control plane serve. */
  readonly controlPlane: string;
  readonly dnsServer: string;
  readonly serviceCidr: string;
  readonly kubernetesService: string;
  readonly dnsService: string;
  /** All pods, of every node. */
  readonly podCidr: string;
}

export interface NodeAddresses {
  /** From 1. */
  readonly index: number;
  readonly name: string;
  readonly address: string;
  readonly podCidr: string;
  /** The bridge that its pods are plugged into. */
  readonly bridge: string;
  readonly gateway: string;
}

export const DEFAULT_SUBNET = '10.213.0.0/16';

/** Nodes have the addresses from .11 on and pod networks from .64 on; nobody needs more here. */
export const NODES_MAX = 9;

const FIRST_NODE = 10;
const FIRST_POD_NETWORK = 63;

/** Undefined when the text is no private `A.B.0.0/16`. */
export function addressesIn(subnet: string): Addresses | undefined {
  const [, first = '', second = ''] = /^(\d{1,3})\.(\d{1,3})\.0\.0\/16$/.exec(subnet) ?? [];
  const [a, b] = [Number(first), Number(second)];
  if (first === '' || b > 255 || !isPrivate(a, b)) return undefined;
  const at = (rest: string): string => `${a}.${b}.${rest}`;
  return {
    subnet: at('0.0/16'),
    interfaceName: `ballast-${a}-${b}`,
    host: at('0.1'),
    controlPlane: at('0.2'),
    dnsServer: at('0.10'),
    podCidr: at('64.0/18'),
    serviceCidr: at('128.0/17'),
    kubernetesService: at('128.1'),
    dnsService: at('128.10'),
  };
}

const isPrivate = (a: number, b: number): boolean =>
  a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);

export function nodeAddresses({ subnet }: Addresses, index: number): NodeAddresses {
  const at = (rest: string): string => `${subnet.split('.', 2).join('.')}.${rest}`;
  const pods = FIRST_POD_NETWORK + index;
  return {
    index,
    name: `node-${index}`,
    address: at(`0.${FIRST_NODE + index}`),
    podCidr: at(`${pods}.0/24`),
    bridge: `pods-${index}`,
    gateway: at(`${pods}.1`),
  };
}

/** A VPN that wants all traffic takes it with two halves, which are before the default route. */
const DEFAULT_BITS = 1;

/** Whether the destination of a route, as `ip` prints it, shares addresses with the network. */
export function isTakenBy(route: string, subnet: string): boolean {
  const destination = /(?:^| )(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?/.exec(route);
  if (destination === null || route.startsWith('default')) return false;
  const bits = Math.min(Number(destination[2] ?? 32), 16);
  const shift = 2 ** (32 - bits);
  const first = (text: string): number => Math.floor(numberOf(text) / shift);
  return bits > DEFAULT_BITS && first(destination[1] ?? '') === first(subnet.replace(/\/.*/, ''));
}

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
