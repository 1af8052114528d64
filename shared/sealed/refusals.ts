// Why sealed content is not opened, in the same words wherever that is found out.
import { Failure } from '../errors.ts';

export function keyLacks(name: string, keyId: string): Failure {
  const message =
    `${name} is encrypted with the key ${keyId}, and no key is named. Name it: ` +
    'spec.source.encryption of an EtcdRestore, --encrypt-key-file FILE of a command.';
  return new Failure('BACKUP_SEALED', message, { object: name });
}

export function keyIsOther(name: string, keyId: string, given: string): Failure {
  const message =
    `${name} is encrypted with the key ${keyId}, and the key that is named is ${given}. Name ` +
    'the one that it was taken with.';
  return new Failure('BACKUP_KEY_WRONG', message, { object: name });
}

/** One may have been put in the place of another that was sealed. */
export function notSealed(name: string): Failure {
  const message =
    `${name} is not encrypted, and a key is named: it may have been put in the place of one that ` +
    'is. Name another one, or no key if it was taken without.';
  return new Failure('BACKUP_UNSEALED', message, { object: name });
}

export function changed(name: string, how: string): Failure {
  const message = `${name} ${how}: it is not the backup that was taken. Use another one.`;
  return new Failure('BACKUP_CHANGED', message, { object: name });
}
