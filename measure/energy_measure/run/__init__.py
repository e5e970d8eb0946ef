"""One run of a program under the meters, from resting to what each call and phase drew."""
