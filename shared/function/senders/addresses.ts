// Which addresses events may come from: every hop of a request has to be one of them. A proxy adds
// the address that it was called from, and nobody behind it can take that away again; so whatever
// a sender claims, its own address is among those that are looked at.
import type { IncomingMessage } from 'node:http';
import { Failure } from '../../errors.ts';

// Importing node:net evaluates all that it exports (see server.ts).
const { BlockList, isIP } = process.getBuiltinModule('node:net');

const ANY = ['0.0.0.0/0', '::/0'];
/** RFC 1918, the range that carriers and some clouds give to pods, and IPv6's own. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  any: ANY,
  private: [...PRIVATE, ...LOOPBACK],
  loopback: LOOPBACK,
};

/** This machine alone: a safe default where no sender is configured. */
export const NOBODY_ELSE: readonly string[] = LOOPBACK;

/** Ranges, separated by commas; throws an Error that ends the sentence "SENDER_ADDRESSES is …". */
export function addressRanges(value: string): readonly string[] {
  return value.split(',').flatMap((part) => {
    const item = part.trim();
    if (item === '') return [];
    return Object.hasOwn(WORDS, item) ? (WORDS[item] ?? []) : [rangeOf(item)];
  });
}

function rangeOf(item: string): string {
  const [address = '', prefix, ...more] = item.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const size = prefix === undefined ? bits : /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (isIP(address) !== 0 && size <= bits && more.length === 0) return `${address}/${size}`;
  const words = Object.keys(WORDS).join(', ');
  throw new Error(`not a list of addresses, of ranges such as 10.244.0.0/16, or of ${words}`);
}

/** Many more than a gateway and an activator have; each costs some dozen bytes. */
const KNOWN_MAX = 256;

export class AllowedAddresses {
  readonly #ranges = new BlockList();
  /** Ways that were found good: senders are few, and a look at the ranges costs microseconds. */
  readonly #known = new Set<string>();

  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      this.#ranges.addSubnet(address, Number(prefix), familyOf(address));
    }
  }

  /** Throws unless each address that the request came through is allowed. */
  assertAllowed(request: IncomingMessage): void {
    const way = wayOf(request);
    if (this.#known.has(way)) return;
    const stranger = hopsOf(request).find((hop) => !this.#has(hop));
    if (stranger === undefined) {
      if (this.#known.size < KNOWN_MAX) this.#known.add(way);
      return;
    }
    const message =
      `Requests from ${shown(stranger)} are not taken here. If it is a sender, or a proxy before ` +
      'one, name its range in SENDER_ADDRESSES; docs/security.md says what that means.';
    throw new Failure('SENDER_ADDRESS_FORBIDDEN', message, { field: 'x-forwarded-for' });
  }

  #has(address: string): boolean {
    return isIP(address) !== 0 && this.#ranges.check(address, familyOf(address));
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * Shows text from a sender, which goes back to it and into the log, only when it can be an address.
 */
const shown = (hop: string): string =>
  isIP(hop) === 0 ? 'a hop that is no address' : hop.replace(/^::ffff:(?=\d+\.)/, '');

/** All that `hopsOf` depends on. */
const wayOf = ({ headers, socket }: IncomingMessage): string =>
  `${socket.remoteAddress ?? ''} ${[headers['x-forwarded-for'] ?? ''].join()}`;

/**
 * The one that is connected, and those that proxies have noted. A loopback peer that has noted
 * somebody is the proxy of the pod, and stands for nobody by itself.
 */
function hopsOf({ headers, socket }: IncomingMessage): string[] {
  const peer = socket.remoteAddress ?? '';
  const header = headers['x-forwarded-for'];
  const noted = typeof header === 'string' ? header.split(',').map((hop) => bare(hop.trim())) : [];
  const isProxy = noted.length > 0 && ownMachine.check(peer, familyOf(peer));
  return isProxy ? noted : [...noted, peer];
}

const ownMachine = new BlockList();
for (const range of LOOPBACK) {
  const [address = '', prefix] = range.split('/');
  ownMachine.addSubnet(address, Number(prefix), familyOf(address));
}

/** `[::1]:80` and `10.0.0.1:80` without their ports. */
const bare = (hop: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
