// What every function of ours can be told about its senders.
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { functionNames } from '../../../knative/build/function-names.ts';
import { definitionIn } from '../../../shared/function/define.ts';

const functions = resolve(import.meta.dirname, '../../../functions');

it.each(await functionNames())(
  '%s can be told to ask for tokens if it takes events',
  async (name) => {
    const path = resolve(functions, name, 'index.ts');
    const definition = definitionIn(await import(path), path);
    const takesEvents = definition.handle !== undefined;
    expect(!takesEvents || definition.readApiServer !== undefined).toBe(true);
  },
);
