// Versions of nats-server, as images and servers name them. Pure.

type Minor = readonly [major: number, minor: number];

/** `2.15.2` in `nats:2.15.2-alpine`; undefined when the tag does not tell. */
export function versionIn(image: string): string | undefined {
  return /:v?(\d+\.\d+(?:\.\d+)?)(?:[-+.][\w.-]*)?(?:@.*)?$/.exec(image)?.[1];
}

/** NATS reads what one minor version later has written, and no more. */
export function isBackTooFar(from: string, to: string): boolean {
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
