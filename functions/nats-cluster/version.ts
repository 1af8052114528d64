// Versions of nats-server, as images and servers name them, and the refusal of a downgrade. Pure.
import { waitFor } from '../../shared/stateful/decision.ts';
import type { Decision } from './decision.ts';
import type { State } from './state.ts';

type Minor = readonly [major: number, minor: number];

/**
 * An older server cannot read what a newer one stored. A server that is silent now counts too: its
 * files stay.
 */
export function refuseDowngrade({ cluster, nats }: State): Decision | undefined {
  const wanted = versionIn(cluster.spec.image);
  const silent = (cluster.status.servers ?? []).filter(({ name }) => !nats.servers.has(name));
  const running = [...nats.servers.values(), ...silent].flatMap(({ version }) => version ?? []);
  const newer = running.find((version) => wanted !== undefined && isBackTooFar(version, wanted));
  if (newer === undefined) return undefined;
  const message =
    `Image ${cluster.spec.image} is more than one minor version behind ${newer}, which has ` +
    'written files that it cannot read; choose a later one.';
  const blocker = { reason: 'DowngradeRefused', message };
  return waitFor(`Change the image to ${cluster.spec.image}`, [blocker], blocker);
}

/** `2.15.2` in `nats:2.15.2-alpine`; undefined when the tag does not tell. */
export function versionIn(image: string): string | undefined {
  return /:v?(\d+\.\d+(?:\.\d+)?)(?:[-+.][\w.-]*)?(?:@.*)?$/.exec(image)?.[1];
}

/** NATS reads what one minor version later has written, and no more. */
function isBackTooFar(from: string, to: string): boolean {
  const [[fromMajor, fromMinor], [toMajor, toMinor]] = [minorOf(from), minorOf(to)];
  return fromMajor === toMajor ? fromMinor - toMinor > 1 : fromMajor > toMajor;
}

function minorOf(version: string): Minor {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return [major, minor];
}

/** The oldest and the newest, as one text: `2.14.9`, or `2.14.9 to 2.15.2`. */
export function rangeOf(versions: readonly string[]): string | undefined {
  // Mostly there is one, and to compare two makes a collator.
  const ordered = [...new Set(versions)].toSorted((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const [oldest, newest] = [ordered.at(0), ordered.at(-1)];
  return oldest === newest ? oldest : `${oldest} to ${newest}`;
}
