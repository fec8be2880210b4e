print("midst")
