// The reason why the API server refuses an object.
import { isKubeError } from '../../shared/kube/errors.ts';

/** The empty text when it takes it. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    if (isKubeError(error, 'KUBE_INVALID')) return error.answer?.message ?? '';
    throw error;
  }
}
