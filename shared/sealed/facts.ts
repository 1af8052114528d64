// The facts beside a sealed backup: hashes of its content, by which somebody could try what is in
// it, are hidden with its key, and all others are proved with it. Opened, they have the form of the
// facts beside a backup that is not sealed.
import type { BackupFacts } from '../api/etcd-backup.ts';
import { sorted } from '../hash.ts';
import { SEALED_FORMAT } from './chunks.ts';
import type { SealKey } from './key.ts';
import { changed, keyIsOther, keyLacks, notSealed } from './refusals.ts';
import { openedText, sealedText } from './text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Each attempt at a backup writes these anew. */
const OF_ATTEMPTS = new Set(['writer', 'seal']);

export function hiddenFacts(facts: BackupFacts, key: SealKey): Fields {
  const { hashKv, unconfirmed, encryption, ...rest } = facts;
  if (encryption === undefined) throw new Error('these are facts of what is not sealed');
  const { plainSha256, ...shown } = encryption;
  const about = { ...rest, encryption: shown };
  const hidden = sealedText(
    JSON.stringify({ hashKv, unconfirmed, plainSha256 }),
    textOf(about),
    key,
  );
  return { ...rest, encryption: { ...shown, hidden } };
}

/**
 * The facts with what was hidden in them, and as they are where no key is named and none is needed.
 * Fails where both do not go together, before anything of the backup is read.
 */
export function openedFacts(found: Fields, key: SealKey | undefined, name: string): Fields {
  const { encryption, ...rest } = found;
  if (!isFields(encryption)) {
    if (key === undefined) return found;
    throw notSealed(name);
  }
  const { format, keyId, hidden, ...more } = encryption;
  if (typeof keyId !== 'string' || !/^[0-9a-f]{16}$/.test(keyId) || typeof hidden !== 'string') {
    throw changed(name, 'has facts that our program has not written');
  }
  if (key === undefined) throw keyLacks(name, keyId);
  if (keyId !== key.id) throw keyIsOther(name, keyId, key.id);
  const text = openedText(hidden, textOf({ ...rest, encryption: { format, keyId, ...more } }), key);
  if (text === undefined) throw changed(name, 'has facts beside it that were written otherwise');
  if (format !== SEALED_FORMAT) {
    throw changed(
      name,
      `is encrypted in the form ${String(format)}, and ${SEALED_FORMAT} is known`,
    );
  }
  // It was proved that we have written it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { plainSha256, ...opened } = JSON.parse(text) as Fields;
  return { ...rest, ...opened, encryption: { format, keyId, ...more, plainSha256 } };
}

/** The same for the same facts, in whatever order they are. */
const textOf = (facts: Fields): string =>
  JSON.stringify(
    sorted(Object.fromEntries(Object.entries(facts).filter(([name]) => !OF_ATTEMPTS.has(name)))),
  );

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
