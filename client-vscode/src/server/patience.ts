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
