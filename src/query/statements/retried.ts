import { AppError } from '../../core/errors/app-error.ts';

const mostAttempts = 5;

/** Again, as often as others have changed a frame meanwhile. */
export async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      const isChanged = error instanceof AppError && error.code === 'frame_changed';
      if (!isChanged || attempt === mostAttempts) throw error;
    }
  }
}
