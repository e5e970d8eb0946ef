/** How long to wait and how often to speak. */

const day = 24 * 60 * 60 * 1000;

/** Whether a problem that was last shown at that time should be shown again. */
export function isDue(shownAt: number | undefined, now: number): boolean {
  return shownAt === undefined || now - shownAt > day;
}

/** Settles with the promise, or with undefined when it takes longer than allowed or fails. */
export async function withinTime<T>(promise: PromiseLike<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
