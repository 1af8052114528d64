// Roles: which keys may be read and written by those who have them.
import { changed, names } from './auth.ts';
import type { CallOptions, Caller } from './caller.ts';
import { endOf, startOf } from '../ranges.ts';
import { bytesIn, type Fields, listIn, Odd, textIn } from './fields.ts';

/** In base64, as etcd keeps it: two that are equal cover the same keys. */
export interface KeyRange {
  readonly key: string;
  /** Empty for the one key. */
  readonly rangeEnd: string;
}

export interface Permission extends KeyRange {
  readonly type: 'READ' | 'WRITE' | 'READWRITE';
}

export const oneKey = (key: string): KeyRange => ({
  key: Buffer.from(key).toString('base64'),
  rangeEnd: '',
});

/** Every key for the empty prefix. */
export const allUnder = (prefix: string): KeyRange => ({
  key: startOf(prefix).toString('base64'),
  rangeEnd: endOf(prefix).toString('base64'),
});

const PERMISSIONS_MAX = 10_000;
const PERMISSIONS_BYTES_MAX = 1024 * 1024;

export class Roles {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  list(options?: CallOptions): Promise<readonly string[]> {
    return names(this.#caller, 'role/list', {}, 'roles', options);
  }

  permissionsOf(role: string, options?: CallOptions): Promise<readonly Permission[]> {
    const read = (answer: Fields): readonly Permission[] =>
      listIn(answer, 'perm', PERMISSIONS_MAX, permission);
    const call = { path: '/v3/auth/role/get', body: { role }, bytesMax: PERMISSIONS_BYTES_MAX };
    return this.#caller.ask({ ...call, read }, options);
  }

  add(role: string, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'role/add', { name: role }, options);
  }

  delete(role: string, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'role/delete', { role }, options);
  }

  /** Takes the place of a permission for the same range. */
  grant(role: string, { type, key, rangeEnd }: Permission, options?: CallOptions): Promise<void> {
    const perm = { permType: type, key, range_end: rangeEnd };
    return changed(this.#caller, 'role/grant', { name: role, perm }, options);
  }

  revoke(role: string, { key, rangeEnd }: KeyRange, options?: CallOptions): Promise<void> {
    return changed(this.#caller, 'role/revoke', { role, key, range_end: rangeEnd }, options);
  }
}

function permission(fields: Fields): Permission {
  // The first of protobuf's enumeration is left out.
  const type = textIn(fields, 'permType') || 'READ';
  if (type !== 'READ' && type !== 'WRITE' && type !== 'READWRITE') throw new Odd('permType');
  const [key, rangeEnd] = [bytesIn(fields, 'key'), bytesIn(fields, 'range_end')];
  return { type, key: key.toString('base64'), rangeEnd: rangeEnd.toString('base64') };
}
