"""Judged questions on code and on manuals: does ranking improve if chunks begin where units begin?"""
